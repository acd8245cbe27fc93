"""The method: requests through an engine; text, then calls: name, injected keys in several orders, values, vote."""
