"""Documentation forms, one file each. ``form`` defines their interface; ``registry`` lists them."""
