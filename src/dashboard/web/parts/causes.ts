/** Hook: the recorded causes, current while the component is on the page; in the past, those up to then. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { runCauseFeed, type CauseFeedState } from "../../data/flow/cause-feed.ts";
import type { Context } from "../views/view.ts";

export function useCauses({ api, at, browser: { clock } }: Context): CauseFeedState | undefined {
  const [state, setState] = useState<CauseFeedState | undefined>(undefined);
  useEffect(() => {
    const life = new AbortController();
    void runCauseFeed({ api, clock, signal: life.signal, changed: setState });
    return () => life.abort();
  }, [api]);
  return useMemo(() => {
    if (state === undefined || at === undefined) return state;
    return { ...state, items: state.items.filter(({ time }) => Date.parse(time) <= at.timeMs) };
  }, [state, at]);
}
