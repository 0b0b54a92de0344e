/** What controllers are told in tests that are not about it. */
import type { ControllerSettings } from "../controllers/all.ts";

export const TEST_SETTINGS: ControllerSettings = { rootCa: "the authority of this test" };
