// Repairs boundaries that the lattice of their source has damaged.
//
// Rounding to a lattice lets edges run back along others, lets rings touch or cross themselves, and shrinks small
// islands to a line or a point. A repair draws the outline again, on the same lattice and in whole numbers, of the
// area that the boundary covers by the even-odd rule:
//
// 1. Edges are split where they meet: at a vertex that lies on an edge, and where two edges cross, at the nearest
//    lattice point. A rounded crossing may cause another one, so this is repeated until no edges cross.
// 2. Edges that lie on each other cancel in pairs. This removes everything that has no area.
// 3. The remaining edges are traced with the area on their left. A ring that visits a vertex twice is split there, so
//    that no ring touches itself.
//
// A boundary of which nothing remains is drawn as a rectangle. Positions are whole numbers, so that no test of sides is
// rounded, and the result is the same on every machine.
import { doubleArea, isSame, pairs, side, steps } from "./rings.mjs";
import { assemble, trace } from "./trace.mjs";

/** The repaired parts of a boundary, or `undefined` if nothing is wrong with it. `width` is 360 degrees in steps. */
export function repair(parts, width) {
  const frame = inOneFrame(parts, width);
  if (frame === undefined) return undefined;
  const repaired = assemble(trace(oddEdges(split(frame.flat().flatMap(ringEdges)))));
  if (parts.flat().every(isClosed) && signature(repaired) === signature(frame)) return undefined;
  const drawn = repaired.length > 0 ? repaired : [[rectangle(frame[0][0])]];
  return drawn.map((part) => part.map((ring) => wrap(ring, width)));
}

/**
 * The parts with rings that have no closing position, in one piece across 180 degrees and all on one side of it.
 * `undefined` if a ring goes round a pole and so has no inside on a plane.
 */
function inOneFrame(parts, width) {
  const unwrapped = parts.map((part) => part.map((ring) => unwrap(ring, width)));
  const rings = unwrapped.flat();
  if (rings.includes(undefined)) return undefined;
  const crosses = rings.some((ring) => ring.some(([x]) => x < 0 || x > width));
  if (!crosses) return unwrapped;
  const toEast = (ring) => ring.map(([x, y]) => [x + width, y]);
  return unwrapped.map((part) => part.map((ring) => (ring.some(([x]) => x < width / 4) ? toEast(ring) : ring)));
}

function unwrap(ring, width) {
  let turn = 0;
  const unwrapped = [ring[0]];
  for (const [[x], [toX, toY]] of steps(ring)) {
    if (toX - x > width / 2) turn -= width;
    if (toX - x < -width / 2) turn += width;
    unwrapped.push([toX + turn, toY]);
  }
  if (turn !== 0) return undefined;
  return pairs(unwrapped).filter(([position, next]) => !isSame(position, next)).map(([position]) => position);
}

/** The ring as it is stored: closed, with longitudes from -180 to 180. */
function wrap(ring, width) {
  const isBeyond = ring.every(([x]) => x >= width);
  const wrapped = ring.map(([x, y]) => [isBeyond || x > width ? x - width : x, y]);
  return [...wrapped, wrapped[0]];
}

function isClosed(ring) {
  return isSame(ring[0], ring.at(-1));
}

/** The smallest rectangle with an area around what has shrunk to a line. */
function rectangle(ring) {
  const [west, east] = range(ring.map(([x]) => x));
  const [south, north] = range(ring.map(([, y]) => y));
  return [[west, south], [east, south], [east, north], [west, north]];
}

function range(numbers) {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  return least < most ? [least, most] : [least - 1, most + 1];
}

function ringEdges(ring) {
  return pairs(ring).filter(([from, to]) => !isSame(from, to));
}

/** The same edges, split until they meet at their ends only. */
function split(edges) {
  for (let round = 0; round < 20; round += 1) {
    const cuts = meetings(edges);
    if (cuts.size === 0) return edges;
    edges = edges.flatMap((edge, at) => (cuts.has(at) ? cutAt(edge, cuts.get(at)) : [edge]));
  }
  throw new Error("the edges of a boundary still cross after twenty rounds");
}

/** The lattice points at which edges are to be split, by the index of the edge. */
function meetings(edges) {
  const cuts = new Map();
  const boxes = edges.map(([[x, y], [toX, toY]], at) => ({
    at,
    west: Math.min(x, toX),
    east: Math.max(x, toX),
    south: Math.min(y, toY),
    north: Math.max(y, toY),
  }));
  boxes.sort((one, other) => one.west - other.west || one.at - other.at);
  boxes.forEach((one, place) => {
    for (let next = place + 1; next < boxes.length && boxes[next].west <= one.east; next += 1) {
      const other = boxes[next];
      if (other.south > one.north || other.north < one.south) continue;
      for (const point of meet(edges[one.at], edges[other.at])) {
        for (const at of [one.at, other.at]) {
          const isInside = !isSame(point, edges[at][0]) && !isSame(point, edges[at][1]);
          if (isInside) cuts.set(at, [...(cuts.get(at) ?? []), point]);
        }
      }
    }
  });
  return cuts;
}

/** The lattice points where two edges meet. */
function meet(one, other) {
  const ofOther = other.map((end) => side(one, end));
  const ofOne = one.map((end) => side(other, end));
  const touches = [
    ...other.filter((end, at) => ofOther[at] === 0 && isInBox(one, end)),
    ...one.filter((end, at) => ofOne[at] === 0 && isInBox(other, end)),
  ];
  const isCrossing = ofOther[0] * ofOther[1] < 0 && ofOne[0] * ofOne[1] < 0;
  if (touches.length > 0 || !isCrossing) return touches;
  const [[x, y], [toX, toY]] = one;
  const share = ofOne[0] / (ofOne[0] - ofOne[1]);
  return [[Math.round(x + share * (toX - x)), Math.round(y + share * (toY - y))]];
}

function isInBox([[x, y], [toX, toY]], [ofX, ofY]) {
  return Math.min(x, toX) <= ofX && ofX <= Math.max(x, toX) && Math.min(y, toY) <= ofY && ofY <= Math.max(y, toY);
}

function cutAt([from, to], points) {
  const along = ([x, y]) => (x - from[0]) * (to[0] - from[0]) + (y - from[1]) * (to[1] - from[1]);
  const sorted = points.toSorted((one, other) => along(one) - along(other));
  return steps([from, ...sorted, to]).filter(([start, end]) => !isSame(start, end));
}

/** The edges that remain when edges on each other cancel in pairs, whatever their directions. */
function oddEdges(edges) {
  const odd = new Map();
  for (const [from, to] of edges) {
    const ordered = from[0] < to[0] || (from[0] === to[0] && from[1] < to[1]) ? [from, to] : [to, from];
    const key = String(ordered);
    if (!odd.delete(key)) odd.set(key, ordered);
  }
  return [...odd.values()];
}

/** Equal for equal parts, wherever their rings begin and whichever way they run. */
function signature(parts) {
  const ring = (positions) => {
    if (positions.length === 0) return "";
    const forward = doubleArea(positions) < 0 ? positions.toReversed() : positions;
    const isBefore = ([x, y], [otherX, otherY]) => x < otherX || (x === otherX && y < otherY);
    const first = forward.reduce((least, position, at) => (isBefore(position, forward[least]) ? at : least), 0);
    return String([...forward.slice(first), ...forward.slice(0, first)]);
  };
  return parts.map(([shell, ...holes]) => [ring(shell), ...holes.map(ring).sort()].join(" ")).sort().join("\n");
}
