"""What can be wrong with a duration."""


class NotationError(ValueError):
    """The text is not a duration, or the number cannot be one."""
