"""Tools as TypeScript: the namespaces that chat templates print, declared functions, types and interfaces."""
