import { RULES } from "./rules.ts";
import { testSituations } from "./test-situations.ts";

testSituations(RULES);
