// What the browser tests show, by name.
import * as deeds from "./deeds.mjs";
import * as looks from "./looks.mjs";
import * as harm from "./harm.mjs";

export const suites = {
  looks: looks.everyPageInBothColoursAndSmall,
  axe: looks.noViolations,
  pictures: looks.pictures,
  search: deeds.search,
  edit: deeds.editAndUndo,
  conflict: deeds.conflict,
  forget: deeds.forgetAndRestore,
  files: deeds.fileEdit,
  sessions: deeds.sessions,
  inspector: deeds.inspector,
  backup: deeds.backupNow,
  skills: deeds.skillsAndSettings,
  ways: deeds.waysBack,
  carry: deeds.carry,
  keyboard: deeds.keyboardOnly,
  scriptless: deeds.withoutScript,
  hostile: harm.hostileTexts,
  refused: harm.refused,
  ports: harm.otherPorts,
  lost: harm.lostDaemon,
};
