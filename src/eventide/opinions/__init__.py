"""Evidence to opinions: belief, uncertainty, conflict, Dempster fusion, class uncertainty."""
