import { INCIDENTS_OF_CLUSTERS } from "./incidents.ts";
import { testSituations } from "./test-situations.ts";

testSituations(INCIDENTS_OF_CLUSTERS);
