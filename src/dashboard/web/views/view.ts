/** The contract of a view. One folder per view; `all.ts` lists them. Views do not import each other: they link by address. */
import type { ComponentType } from "preact";
import type { ClusterApi } from "../../data/cluster-api.ts";
import type { Kind } from "../../data/kinds.ts";
import type { Instant } from "../../data/time/past-connection.ts";
import type { Browser } from "../page/browser.ts";
import type { Route } from "../route.ts";

/** What every view may use of the cluster and of the browser. */
export interface Context {
  readonly api: ClusterApi;
  readonly kinds: readonly Kind[];
  readonly browser: Browser;
  /** The instant that all requests are answered from, and that the clock of the browser shows. Absent: now. */
  readonly at?: Instant;
  /** Replaces a part of the query of the current address. */
  setQuery(change: Readonly<Record<string, string | undefined>>): void;
  /** The same without an entry in the history of the browser: for what changes with every key. */
  replaceQuery(change: Readonly<Record<string, string | undefined>>): void;
}

export interface ViewProps {
  readonly context: Context;
  readonly route: Route;
}

export interface View {
  /** First segment of its addresses; unique. */
  readonly name: string;
  /** Of the menu. Absent: reached by links only. */
  readonly menuTitle?: string;
  titleOf(route: Route): string;
  readonly component: ComponentType<ViewProps>;
}
