"""The server as a Ray Serve application with many replicas; Ray is imported only here."""
