#!/usr/bin/env node
"use strict";

const fs = require("fs");
const { join, resolve: full } = require("path");
const log = require("./log").write;
require("./setup");
import seeds, { water as pour } from "./seeds.js";
import * as tools from "./tools.js";
export { pour as default } from "./seeds.js";
export * as soil from "./soil.js";

/** Beds in use. — „Beete“ */
const MOST_BEDS = 12;
let season = "spring", year = 2024;
var plan = { rows: 3 };

/**
 * A bed of plants.
 */
export class Bed extends tools.Box {
  static count = 0;
  #plants = [];

  constructor(name = "unnamed", ...rest) {
    super(name);
    this.#plants = rest;
  }

  /** How many there are. */
  get size() {
    return this.#plants.length;
  }

  static async load(file) {
    const text = await fs.promises.readFile(join("beds", file), "utf8");
    return text.split("\n").map((line) => new Bed(line));
  }

  grow = (days) => {
    for (const plant of this.#plants) plant.grow(days);
  };

  #wilt() {}
}

export default function () {
  return water(new Bed("ж"));
}

export async function water(bed, { litres = 1, from: source } = {}) {
  function drop(litres) {
    return pour(source, litres);
  }
  try {
    drop(litres);
  } catch (error) {
    log(`water of ${bed.size ? water.name : "none"} failed`);
  }
}

export function* walk() { yield* []; }

const dig = async function (depth) { return depth; },
  rake = (bed) => bed;

// Tasks by season.
const tasks = {
  spring: () => dig(2),
  async autumn(bed) { await water(bed); },
  names: ["ernten"],
};

module.exports.harvest = function (bed) { return bed.size; };
exports.sow = (bed) => bed;
module.exports = { water, list: function () { return tasks; } };

function Shed() {}
Shed.prototype.lock = function (key) { this.key = key; };
Shed.open = () => new Shed();

const card = (bed) => <Card title={bed.name}>water</Card>;
