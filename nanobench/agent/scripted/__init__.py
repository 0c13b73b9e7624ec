"""The built-in provider whose models behave instead of thinking."""
