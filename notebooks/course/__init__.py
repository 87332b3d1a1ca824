"""The course: lessons over the lab's rooms, and what a teacher prints, asks and collects."""
