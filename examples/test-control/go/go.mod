module example.com/test-control

go 1.21
