/**
 * Registers a resource whose disposal is IO of the machine (files, sockets) with its owner, so that virtual time stands still while it is
 * closed. With `owner.use` alone a clock that is driven to the end of a shutdown would advance past the deadline of the shutdown.
 */
import type { Clock } from "./clock.ts";
import type { Disposables } from "./disposables.ts";

export function useExternal<T extends AsyncDisposable>(owner: Disposables, clock: Clock, resource: T): T {
  owner.defer(() => clock.external(Promise.resolve(resource[Symbol.asyncDispose]())));
  return resource;
}
