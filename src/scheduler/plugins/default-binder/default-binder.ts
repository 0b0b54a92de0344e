/** DefaultBinder: tells the API server which node a Pod goes to. It leaves no Pod to others, so it is the last to be asked. */
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
