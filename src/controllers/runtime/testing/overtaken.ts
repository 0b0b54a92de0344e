/** For tests of races: controllers with stale caches, or with foreign writes between their reads and writes. */
import type { Reader } from "../../../client/informer/informer.ts";
import { defineController, type Controller } from "../controller.ts";

type Write = "delete" | "patch" | "updateStatus";

/** The same, but `race` runs once, just before the first write of this kind is sent. */
export function overtaken(controller: Controller, verb: Write, race: () => Promise<unknown>): Controller {
  return defineController({
    ...controller,
    start(context) {
      const reconcile = controller.start(context);
      let isOver = false;
      return (key, pass) => {
        const send = pass.write[verb].bind(pass.write) as (...of: readonly unknown[]) => Promise<unknown>;
        const late = async (...of: readonly unknown[]): Promise<unknown> => {
          if (!isOver) await race();
          isOver = true;
          return send(...of);
        };
        return reconcile(key, { ...pass, write: { ...pass.write, [verb]: late } });
      };
    },
  });
}

/** The same, but its informers show something else. */
export function seeing(controller: Controller, shown: Partial<Reader>): Controller {
  return defineController({
    ...controller,
    start(context) {
      const reconcile = controller.start(context);
      return (key, pass) => reconcile(key, { ...pass, read: { ...pass.read, ...shown } });
    },
  });
}
