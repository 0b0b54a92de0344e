/** Writes of plugins, executed by the same functions as those of clients. */
import type { ServerContext } from "../framework/server-context.ts";
import type { ObjectWrites } from "../framework/storage/writes.ts";
import { deleteObject } from "./delete.ts";
import { ownObject } from "./own-object.ts";
import { updateObject } from "./update.ts";

/** `server` is called at each write: the context contains these writes. */
export function objectWrites(server: () => ServerContext): ObjectWrites {
  return {
    update: (update) => updateObject(server(), update),
    delete: (deletion) => deleteObject(server(), deletion),
    ownObject: (endpoint, object) => ownObject(server(), endpoint, object),
  };
}
