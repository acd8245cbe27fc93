"""Documentation forms. ``form`` defines their interface; ``registry`` lists them."""
