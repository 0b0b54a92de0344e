/** All views; those with a menu title are in the menu in this order. The first is shown at the start. */
import { accessView } from "./access/access-view.ts";
import { changesView } from "./changes/changes-view.ts";
import { createView } from "./create/create-view.ts";
import { flowView } from "./flow/flow-view.ts";
import { listView } from "./list/list-view.ts";
import { mapView } from "./map/map-view.ts";
import { nodesView } from "./nodes/nodes-view.ts";
import { objectView } from "./object/object-view.ts";
import { searchView } from "./search/search-view.ts";
import { workloadsView } from "./workloads/workloads-view.ts";
import type { View } from "./view.ts";

export const all: readonly View[] = [
  mapView,
  workloadsView,
  nodesView,
  flowView,
  changesView,
  accessView,
  createView,
  searchView,
  listView,
  objectView,
];
