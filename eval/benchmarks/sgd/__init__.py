"""SGD, the Schema-Guided Dialogue dataset."""
