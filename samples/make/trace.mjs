// Draws the outline of an area from edges that meet at their ends only, each given from west to east (or from south to
// north), with an even number of them at every vertex: shells run counterclockwise and holes clockwise.
import { doubleArea, pairs, side } from "./rings.mjs";

/** The rings of each face of the area: arrays of rings, of which at most one is a shell. */
export function trace(edges) {
  const ways = directed(edges).map(([from, to]) => ({ from, to, isUsed: false }));
  const leaving = new Map(ways.map(({ from }) => [String(from), []]));
  for (const way of ways) leaving.get(String(way.from)).push(way);
  const faces = [];
  for (const first of ways) {
    if (first.isUsed) continue;
    const walk = [];
    let way = first;
    do {
      way.isUsed = true;
      walk.push(way.from);
      way = next(way, leaving.get(String(way.to)));
    } while (way !== first);
    faces.push(simpleRings(walk));
  }
  return faces;
}

/** Parts of a MultiPolygon: each shell with its holes. */
export function assemble(faces) {
  const parts = [];
  const loose = [];
  for (const rings of faces) {
    const shell = rings.find((ring) => doubleArea(ring) > 0);
    const holes = rings.filter((ring) => ring !== shell);
    if (shell === undefined) loose.push(...holes);
    else parts.push([shell, ...holes]);
  }
  for (const hole of loose) {
    const around = parts.filter(([shell]) => contains(shell, hole));
    const area = ([shell]) => doubleArea(shell);
    around.reduce((least, part) => (area(part) < area(least) ? part : least)).push(hole);
  }
  return parts;
}

/** Each edge in the direction that has the area on its left. */
function directed(edges) {
  const beneath = edges.map(() => 0);
  const byWest = edges.map((edge, at) => ({ edge, at }));
  byWest.sort((one, other) => one.edge[0][0] - other.edge[0][0] || one.at - other.at);
  byWest.forEach((one, place) => {
    for (let next = place + 1; next < byWest.length && byWest[next].edge[0][0] <= one.edge[1][0]; next += 1) {
      const other = byWest[next];
      if (isBeneath(one.edge, middle(other.edge))) beneath[other.at] += 1;
      if (isBeneath(other.edge, middle(one.edge))) beneath[one.at] += 1;
    }
  });
  return edges.map(([from, to], at) => (beneath[at] % 2 === 0 ? [from, to] : [to, from]));
}

/** In half steps, so that it is a whole number. */
function middle([[x, y], [toX, toY]]) {
  return [x + toX, y + toY];
}

/** Whether an edge passes south of a position in half steps, or of one just east of it. */
function isBeneath([[x, y], [toX, toY]], middle) {
  return 2 * x <= middle[0] && middle[0] < 2 * toX && side([[2 * x, 2 * y], [2 * toX, 2 * toY]], middle) > 0;
}

/** Of the ways that leave a vertex, the first one clockwise from the way back, which keeps the area on the left. */
function next({ from, to }, ways) {
  if (ways.length === 1) return ways[0];
  const back = [from[0] - to[0], from[1] - to[1]];
  const clockwise = (one, other) => {
    const [half, otherHalf] = [half180(back, one), half180(back, other)];
    return half - otherHalf || cross(one, other);
  };
  const direction = (way) => [way.to[0] - to[0], way.to[1] - to[1]];
  return ways.reduce((first, way) => (clockwise(direction(way), direction(first)) < 0 ? way : first));
}

/** 0 for the directions in the first half of a turn clockwise from `back`, 1 for the opposite one, 2 for the others. */
function half180(back, direction) {
  return Math.sign(cross(back, direction)) + 1;
}

function cross([x, y], [otherX, otherY]) {
  return x * otherY - y * otherX;
}

/** The rings that a walk consists of: it is split wherever it comes to a vertex again. */
function simpleRings(walk) {
  const rings = [];
  const path = [];
  const places = new Map();
  for (const position of walk) {
    const key = String(position);
    if (places.has(key)) {
      const ring = path.splice(places.get(key));
      for (const left of ring) places.delete(String(left));
      rings.push(ring);
    }
    places.set(key, path.length);
    path.push(position);
  }
  return [...rings, path];
}

/** Whether a ring lies in another one; both are outlines of one area, so that no edges cross. */
function contains(shell, ring) {
  const inner = middle(pairs(ring)[0]);
  const east = ([x, y], [toX, toY]) => (x <= toX ? [[x, y], [toX, toY]] : [[toX, toY], [x, y]]);
  return pairs(shell).filter(([from, to]) => isBeneath(east(from, to), inner)).length % 2 === 1;
}
