"""The kinds of work that can be a job; :data:`fabula.jobs.task.TASKS` names them."""
