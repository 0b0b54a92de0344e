/** Hooks that keep the data of a component current while it is on the page. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { ClusterApi } from "../../data/cluster-api.ts";
import { pathOf, type Kind } from "../../data/kinds.ts";
import type { LiveState } from "../../data/live-list.ts";
import { runLiveObjects } from "../../data/live-objects.ts";
import { runLiveTable, type TableState } from "../../data/live-table.ts";
import type { Context } from "../views/view.ts";
import { useAccess } from "./access.ts";

/** Empty: nothing is read. */
export function useTable(
  { api, browser: { clock } }: Context,
  path: string,
  query?: Readonly<Record<string, string>>,
): TableState | undefined {
  return useLive<TableState>(api, [path, JSON.stringify(query)], (signal, changed) =>
    path === "" ? undefined : runLiveTable({ api, clock, path, signal, changed, ...(query === undefined ? {} : { query }) }),
  );
}

export function useObjects(
  { api, browser: { clock } }: Context,
  path: string,
  query?: Readonly<Record<string, string>>,
  itemsMax?: number,
): LiveState<KubeObject> | undefined {
  return useLive<LiveState<KubeObject>>(api, [path, JSON.stringify(query)], (signal, changed) =>
    path === ""
      ? undefined
      : runLiveObjects({
          ...{ api, clock, path, signal, changed },
          ...(query === undefined ? {} : { query }),
          ...(itemsMax === undefined ? {} : { itemsMax }),
        }),
  );
}

/** The objects of a kind, if the user may list them: no request is made that is rejected. Undefined: not known yet. */
export function useAllowedObjects(
  context: Context,
  kind: Kind | undefined,
  namespace: string,
  itemsMax: number,
): { readonly state: LiveState<KubeObject> | undefined; readonly forbidden: string } {
  const needed = kind === undefined ? [] : [{ verb: "list", group: kind.group, resource: kind.plural, namespace }];
  const forbidden = useAccess(context, needed);
  const path = kind === undefined || forbidden !== "" ? "" : pathOf(kind, { namespace });
  return { state: useObjects(context, path, undefined, itemsMax), forbidden: forbidden ?? "" };
}

/** Another path begins with nothing; another instant of the same path keeps the old items until the new ones are there. */
function useLive<State>(
  api: ClusterApi,
  inputs: readonly string[],
  run: (signal: AbortSignal, changed: (state: State) => void) => Promise<void> | undefined,
): State | undefined {
  const [state, setState] = useState<State | undefined>(undefined);
  const last = useRef<readonly string[]>([]);
  useEffect(() => {
    const life = new AbortController();
    if (inputs.some((input, index) => input !== last.current[index])) setState(undefined);
    last.current = inputs;
    void run(life.signal, setState);
    return () => life.abort();
  }, [api, ...inputs]);
  return state;
}

/** The current time, updated every second: for ages. */
export function useNow({ browser: { clock } }: Context): number {
  const [now, setNow] = useState(() => clock.now());
  useEffect(() => {
    const life = new AbortController();
    const tick = async () => {
      while (!life.signal.aborted) {
        await clock.sleep(1_000, life.signal);
        setNow(clock.now());
      }
    };
    tick().catch(() => undefined);
    return () => life.abort();
  }, [clock]);
  return now;
}
