"""HTTP/1.1 and HTTP/2 behind the seam of ``send`` and ``stream``."""
