"""The network that is trained: Llama with factored embeddings and a head start in copying."""
