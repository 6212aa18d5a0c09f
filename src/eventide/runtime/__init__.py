"""The process we run in: cores, forks, memory, threads that wait, values made once."""
