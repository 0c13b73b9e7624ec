"""NanoBench: did this change make the agent better, on which model, and why does it fail?"""

__version__ = "1.0.0"
