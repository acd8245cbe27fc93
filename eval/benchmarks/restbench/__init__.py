"""RestBench's TMDB: questions to a database of films, answered through the operations of an OpenAPI document."""
