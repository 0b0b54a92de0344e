/** A server with scripted responses, one per request in order, which records the requests. After the last response it hangs. */
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { StatusError } from "../../../api/machinery/status-error.ts";
import type { Transport, TransportEvent, TransportRequest, TransportWatchListener } from "../../../api/machinery/transport.ts";
import type { Clock } from "../../../base/clock.ts";

export type ScriptedAnswer =
  | { readonly refuses: StatusError }
  | { readonly lists: readonly KubeObject[]; readonly revision: string; readonly continue?: string }
  /** A watch that starts with these. */
  | { readonly delivers: readonly TransportEvent[]; readonly thenEnds?: boolean }
  /** Never answered. */
  | { readonly hangs: true };

export interface ScriptedServer extends Transport {
  /** "0 watch resourceVersion=5": the second, the verb, the relevant options. */
  readonly asked: string[];
  readonly requests: Omit<TransportRequest, "verb">[];
  /** The open watch. */
  readonly open: TransportWatchListener | undefined;
}

export function scriptedServer(clock: Clock, answers: readonly ScriptedAnswer[]): ScriptedServer {
  const left = [...answers];
  let open: TransportWatchListener | undefined;
  const asked: string[] = [];
  const requests: Omit<TransportRequest, "verb">[] = [];
  const next = (verb: string, request: Omit<TransportRequest, "verb">): ScriptedAnswer => {
    const { timeoutSeconds: _timeoutSeconds, allowWatchBookmarks: _allowWatchBookmarks, ...options } = request.options ?? {};
    const words = Object.entries(options).map(([name, value]) => ` ${name}=${String(value)}`);
    asked.push(`${Math.floor(clock.monotonic() / 1_000)} ${verb}${words.join("")}`);
    requests.push(request);
    return left.shift() ?? { hangs: true };
  };
  return {
    asked,
    requests,
    get open() {
      return open;
    },
    async request(request) {
      const answer = next("list", request);
      if ("refuses" in answer) throw answer.refuses;
      if (!("lists" in answer)) return new Promise(() => undefined);
      const { lists, revision, continue: token } = answer;
      return {
        is: "list",
        items: lists,
        metadata: { resourceVersion: revision, ...(token === undefined ? {} : { continue: token }) },
        warnings: [],
      };
    },
    async watch(request, listener) {
      const answer = next("watch", request);
      if ("refuses" in answer) throw answer.refuses;
      if ("hangs" in answer) return new Promise(() => undefined);
      if (!("delivers" in answer)) throw new Error("The script has a list where a watch was asked for");
      open = listener;
      clock.soon(() => {
        for (const event of answer.delivers) listener.event(event);
        if (answer.thenEnds === true) listener.ended();
      });
      return { stop: () => listener.ended() };
    },
    document: () => Promise.reject(new Error("The script has no documents")),
  };
}

export function aMap(
  name: string,
  revision: number,
  { uid = name, data = {} }: { uid?: string; data?: Record<string, string> } = {},
): KubeObject {
  const metadata = { name, namespace: "default", uid, resourceVersion: String(revision) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data } as KubeObject;
}

export function added(object: KubeObject): TransportEvent {
  return { type: "ADDED", object };
}

export function modified(object: KubeObject): TransportEvent {
  return { type: "MODIFIED", object };
}

export function removed(object: KubeObject): TransportEvent {
  return { type: "DELETED", object };
}

export function bookmark(revision: number): TransportEvent {
  return { type: "BOOKMARK", resourceVersion: String(revision), initialEventsEnd: false };
}

/** There are no others. */
export function whole(revision: number, ...objects: readonly KubeObject[]): readonly TransportEvent[] {
  return [...objects.map(added), { type: "BOOKMARK", resourceVersion: String(revision), initialEventsEnd: true }];
}
