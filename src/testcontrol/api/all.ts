/** All routes of the test control API, in the order of the OpenAPI document. A path with a parameter follows one without. */
import type { AnyRoute } from "./route.ts";
import { clusterRoutes } from "./clusters.ts";
import { faultRoutes } from "./faults.ts";
import { nodeRoutes } from "./nodes.ts";
import { snapshotRoutes } from "./snapshots.ts";
import { timeRoutes } from "./time.ts";

export const all: readonly AnyRoute[] = [...clusterRoutes, ...snapshotRoutes, ...timeRoutes, ...nodeRoutes, ...faultRoutes];
