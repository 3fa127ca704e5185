// SPDX-License-Identifier: MIT

// Takes memory until the runtime gives up, by system calls of its own.
package main

func main() {
	var kept [][]byte
	for {
		piece := make([]byte, 1<<20)
		for i := 0; i < len(piece); i += 4096 {
			piece[i] = 1
		}
		kept = append(kept, piece)
		if len(kept) > 4096 {
			panic("there was no limit")
		}
	}
}
