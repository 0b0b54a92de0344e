/** All views; those with a menu title are in the menu in this order. The first is shown at the start. */
import { changesView } from "./changes/changes-view.ts";
import { flowView } from "./flow/flow-view.ts";
import { listView } from "./list/list-view.ts";
import { mapView } from "./map/map-view.ts";
import { objectView } from "./object/object-view.ts";
import { searchView } from "./search/search-view.ts";
import type { View } from "./view.ts";

export const all: readonly View[] = [mapView, flowView, changesView, searchView, listView, objectView];
