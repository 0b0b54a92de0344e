/** All tabs of an object, in this order. */
import { eventsTab } from "./events-tab.ts";
import { logsTab } from "./logs/logs-tab.ts";
import { overviewTab } from "./overview-tab.ts";
import type { Tab } from "./tab.ts";
import { terminalTab } from "./terminal/terminal-tab.ts";
import { whyTab } from "./why/why-tab.ts";
import { yamlTab } from "./yaml-tab.ts";

export const tabs: readonly Tab[] = [overviewTab, whyTab, logsTab, terminalTab, yamlTab, eventsTab];
