"""What people read: facts about a data set, tables, figures."""
