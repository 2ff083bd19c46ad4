"""The rules of Liverpool and Contract Rummy: pure values and functions, no clock, no chance, no I/O."""
