"""NanoBench: did this change make the agent better, on which model, and why does it fail?"""

__version__ = "0.1.0"
