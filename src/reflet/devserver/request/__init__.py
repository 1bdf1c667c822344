"""What a request asks for, taken apart and checked, before any verb acts."""
