"""Go's texts: how it quotes, prints and measures, which messages and files let show."""
