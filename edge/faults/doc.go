// Package faults holds no code: its tests show what an app at the edge survives, each on workerd
// and on wazero, with the same program (testdata/site) and in a world that the test has in hand.
//
//	row   hazard                                  test
//	E-1   many requests in one isolate            TestE1ParallelSignIns
//	E-2   a cache that one request fills          TestE2AClientLeavesWhileTheCacheIsFilled
//	E-3   a panic                                 TestE3PanicsCostOneRequest
//	E-4   the program's end; endless input        TestE4AnEndCostsOneRequest, TestE4HugeAndDeepInput, TestE4BodyWithoutAnEnd
//	E-5   memory                                  TestE5MemoryIsBounded, TestE5LargeSessionsInFlight, TestE5RetirementLosesNoRequest
//	E-6   a clock that stands still, or jumps     TestE6Clocks
//	E-7   what two users share                    TestE7TwoUsersNeverMeet, TestE7NoPackageVariableKeepsRequestData
//	E-8   no randomness                           TestE8Randomness
//	E-9   a client that leaves                    TestE9TheClientLeavesAtEachCall
//	E-10  calls that the platform counts          TestE10Calls
//	E-11  headers that proxies refuse             TestE11HeaderBudgets
//	E-12  processor time that the platform counts BenchmarkE12
//	E-13  what is left over                       TestE13NothingIsLeftOver
//	E-14  instances without end (wazero's host)   TestE14ADeadlineEndsARequest, TestE14InstancesLeaveNothing
//	E-15  two versions at once                    TestE15MixedVersions
//
// Faults of the bridge alone, with a smaller program, are in the tests of packages edge and
// wasmtest; faults of stores in kvadapter/flowtest.
//
// The flag -long makes as many requests as the rows name; a million of them take half an hour:
//
//	go test ./edge/faults -run TestE5MemoryIsBounded -long -timeout 2h
package faults
