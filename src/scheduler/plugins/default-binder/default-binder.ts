/** DefaultBinder: writes the binding to the API server. It handles every Pod, so it is called last. */
import type { Plugin, PluginContext, PluginFactory } from "../../framework/plugin.ts";

export const defaultBinder: PluginFactory = {
  name: "DefaultBinder",

  make({ effects }: PluginContext): Plugin {
    return {
      name: "DefaultBinder",

      async bind({ pod }, nodeName, signal) {
        await effects.bind(pod, nodeName, signal);
        return true;
      },
    };
  },
};
