"""Files of the user: where results go, and the folder of what need not be made again."""
