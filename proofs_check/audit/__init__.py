"""Statistical evidence about ε, and the exact values that it is judged by."""
