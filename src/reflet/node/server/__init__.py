"""The agent's own ports: who may ask, and what is answered."""
