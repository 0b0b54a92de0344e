/** All tabs of an object, in this order. */
import { eventsTab } from "./events-tab.ts";
import { overviewTab } from "./overview-tab.ts";
import type { Tab } from "./tab.ts";
import { yamlTab } from "./yaml-tab.ts";

export const tabs: readonly Tab[] = [overviewTab, yamlTab, eventsTab];
