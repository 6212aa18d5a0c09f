"""Views, exact bucketed neighbourhoods without edges, look-up of new messages, edge facts."""
