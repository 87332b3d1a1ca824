"""Results of Iometer and IOzone as points of a measurement."""
