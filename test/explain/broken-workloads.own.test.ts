import { SITUATIONS } from "./situations.ts";
import { testSituations } from "./test-situations.ts";

testSituations(SITUATIONS.filter(({ subject }) => /^(deployments|jobs)\./.test(subject)));
