/** The contract of a tab of the object view. One file per tab; tabs.ts lists them. */
import type { ComponentType } from "preact";
import type { KubeObject } from "../../../../api/machinery/object.ts";
import type { Kind } from "../../../data/kinds.ts";
import type { Route } from "../../route.ts";
import type { Context } from "../view.ts";

export interface TabProps {
  readonly context: Context;
  readonly route: Route;
  readonly kind: Kind;
  /** As it is now. */
  readonly object: KubeObject;
}

export interface Tab {
  /** Of the address; "" is the first. */
  readonly name: string;
  readonly title: string;
  /** Whether objects of the kind have it. */
  isFor(kind: Kind): boolean;
  readonly component: ComponentType<TabProps>;
}
