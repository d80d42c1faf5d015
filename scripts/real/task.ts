/**
 * The task that the agents are given: two notes in their folder, one by a command, one by a file tool.
 *
 * The script belongs to the stand-in model; its results are checked where it is used.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Scene } from './scene.ts'

export const task = {
  prompt: 'Please leave two notes in this folder.',
  thought: 'Two notes: one by a command, one by a file tool.',
  text: 'I will write the first note with a command.',
  command: 'echo from-the-shell > shell-note.txt && cat shell-note.txt',
  finalText: 'Both notes are written.',
} as const

/** Reads a file in the scene's workspace. */
export function readNote(scene: Scene, name: string): Promise<string> {
  return readFile(join(scene.workspace, name), 'utf8').catch(() => 'no file')
}
