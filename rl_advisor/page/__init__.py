"""The parts of the HTML report: what it says, its pictures, its look, and the lock that keeps a run's own words inert."""
