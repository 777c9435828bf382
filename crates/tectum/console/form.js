// A form made from a tool's JSON schema: one field for each argument, checked before anything is sent.

import { h } from './view.js';
import { invalidate } from './store.js';
import { line, plain, shown } from './text.js';

/** @typedef {{type?: string | string[], enum?: any[], const?: any, description?: string, default?: any, minimum?: number, maximum?: number, anyOf?: any[]}} Schema */

export class Form {
  /** @param {any} schema of an object @param {Record<string, any>} [given] the values to begin with @param {string} [id] */
  constructor(schema, given = {}, id = 'form') {
    this.id = id;
    /** @type {Record<string, Schema>} */
    this.fields = { ...(schema?.properties ?? {}) };
    // Arguments that the schema does not know must not get lost.
    for (const name of Object.keys(given)) this.fields[name] ??= {};
    this.required = new Set(schema?.required ?? []);
    this.given = given;
    /** @type {Record<string, any>} what stands in the fields */
    this.raw = {};
    for (const [name, field] of Object.entries(this.fields)) this.raw[name] = name in given ? written(given[name], kindOf(field, given[name])) : '';
    /** @type {Record<string, string>} */
    this.errors = {};
  }

  /** The arguments, or null if a field is wrong. @returns {Record<string, any> | null} */
  read() {
    /** @type {Record<string, any>} */
    const out = {};
    this.errors = {};
    for (const [name, field] of Object.entries(this.fields)) {
      const raw = this.raw[name];
      const kind = kindOf(field, this.given[name]);
      if (raw === '' && !(kind === 'string' && (this.required.has(name) || name in this.given))) {
        if (this.required.has(name)) this.errors[name] = 'This argument is needed.';
        continue;
      }
      try {
        out[name] = parsed(raw, kind, field);
      } catch (error) {
        this.errors[name] = /** @type {Error} */ (error).message;
      }
    }
    invalidate();
    return Object.keys(this.errors).length ? null : out;
  }

  view() {
    const names = Object.keys(this.fields);
    if (!names.length) return h('p.note', null, 'This tool takes no arguments.');
    return h('div.fields', null, names.map((name) => this.field(name, this.fields[name])));
  }

  /** @param {string} name @param {Schema} field */
  field(name, field) {
    const kind = kindOf(field, this.given[name]);
    const id = `${this.id}-${name}`;
    const value = this.raw[name];
    const error = this.errors[name];
    const common = { key: 'input', id, name, 'aria-invalid': error ? 'true' : undefined, 'aria-describedby': error ? `${id}-error` : undefined, spellcheck: 'false', autocomplete: 'off' };
    const set = (/** @type {any} */ event) => {
      this.raw[name] = event.target.value;
      delete this.errors[name];
      invalidate();
    };
    let input;
    if (kind === 'enum' || kind === 'boolean') {
      const values = kind === 'enum' ? (field.enum ?? []).map((each) => JSON.stringify(each)) : ['true', 'false'];
      input = h('select', { ...common, value, onchange: set }, h('option', { value: '' }, this.required.has(name) ? 'Choose' : 'Leave out'), values.map((each) => h('option', { value: each }, plain(each))));
    } else if (kind === 'number') input = h('input', { ...common, inputmode: 'decimal', value, oninput: set, placeholder: hint(field) });
    else {
      const lines = Math.min(24, Math.max(kind === 'json' ? 3 : 1, value.split('\n').length));
      input = kind === 'string' && lines === 1 && value.length < 90 && !/string|content|text|script|command|body|prompt|code|message|description/.test(name) ? h('input', { ...common, value, oninput: set, placeholder: hint(field) }) : h('textarea', { ...common, rows: lines, value, oninput: set, placeholder: kind === 'json' ? 'JSON' : hint(field) });
    }
    return h('div.field', { key: name, class: kind },
      h('label', { for: id }, h('code', null, line(name)), this.required.has(name) && h('span.needed', null, 'needed'), h('span.note', null, typeName(field))),
      field.description && h('p.note', null, shown(field.description)),
      input,
      typeof value === 'string' && plain(value) !== value && h('p.note.hidden-chars', null, 'Contains hidden characters: ', shown(value.slice(0, 400))),
      error && h('p.field-error', { id: `${id}-error`, role: 'alert' }, error));
  }
}

/** @param {Schema} field @param {any} given @returns {'string' | 'number' | 'boolean' | 'enum' | 'json'} */
function kindOf(field, given) {
  if (field.enum) return 'enum';
  const types = [field.type ?? (field.anyOf ?? []).map((each) => each.type)].flat().filter((type) => type && type !== 'null');
  if (!types.length && typeof given === 'string') return 'string';
  if (types.length !== 1) return 'json';
  if (types[0] === 'integer' || types[0] === 'number') return 'number';
  return types[0] === 'string' ? 'string' : types[0] === 'boolean' ? 'boolean' : 'json';
}

/** @param {any} value @param {string} kind */
const written = (value, kind) => (kind === 'string' && typeof value === 'string' ? value : kind === 'json' ? JSON.stringify(value, null, 2) : kind === 'enum' ? JSON.stringify(value) : String(value));

/** @param {string} raw @param {string} kind @param {Schema} field */
function parsed(raw, kind, field) {
  if (kind === 'string') return raw;
  if (kind === 'boolean') return raw === 'true';
  if (kind === 'number') {
    const number = Number(raw);
    if (raw.trim() === '' || !Number.isFinite(number)) throw new Error('Please write a number.');
    if ([field.type].flat().includes('integer') && !Number.isInteger(number)) throw new Error('Please write a whole number.');
    if (field.minimum !== undefined && number < field.minimum) throw new Error(`The smallest value is ${field.minimum}.`);
    if (field.maximum !== undefined && number > field.maximum) throw new Error(`The largest value is ${field.maximum}.`);
    return number;
  }
  try {
    return JSON.parse(raw);
  } catch (error) {
    throw new Error(`This is not JSON: ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {Schema} field */
const typeName = (field) => [field.type ?? (field.enum ? 'one of' : 'any')].flat().filter((type) => type !== 'null').join(' or ');
/** @param {Schema} field */
const hint = (field) => (field.default === undefined || field.default === null ? '' : `default: ${plain(JSON.stringify(field.default))}`);
