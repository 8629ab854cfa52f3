"""The procedures that decide goals: normal forms and boxes."""
